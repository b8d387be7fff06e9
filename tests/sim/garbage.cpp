#include "tests/sim/garbage.h"

#include <iterator>
#include <utility>

namespace regatta::simtest {
namespace {

constexpr std::size_t body_max = 1 << 20;

void replace_all(std::string* text, const std::string& what, const std::string& by) {
  for (std::size_t at = text->find(what); at != std::string::npos && text->size() < body_max;
       at = text->find(what, at + by.size())) {
    text->replace(at, what.size(), by);
  }
}

}  // namespace

std::size_t Garbler::any(std::size_t below) {
  return below == 0 ? 0 : std::size_t(rng_.between(0, std::int64_t(below) - 1));
}

/// One of the ways in which what it says is still text of about the same length.
void Garbler::change_text(std::string* body) {
  static const std::pair<const char*, const char*> swaps[] = {
      {"\"True\"", "\"Perhaps\""},
      {"\"False\"", "\"True\""},
      {"\"items\":[", "\"items\":{\"a\":["},
      {"\"resourceVersion\":\"", "\"resourceVersion\":\"9999999999"},
      {"\"resourceVersion\":\"", "\"resourceVersion\":\"x"},
      {"\"uid\":\"", "\"uid\":\"0"},
      {"\"name\":\"", "\"name\":\"../"},
      {"\"conditions\":[", "\"conditions\":[7,"},
      {"\"spec\":{", "\"spec\":[{"},
      {"2026-", "2036-"},
      {"2026-", "2016-"},
      {"\"count\":", "\"count\":-"},
      {"\"active\":", "\"active\":9223372036854775807"},
      {"\"metadata\":{", "\"metadata\":{\"continue\":\"again\",\"remainingItemCount\":-1,"},
      {"\"type\":\"ADDED\"", "\"type\":\"DELETED\""},
      {"\"type\":\"MODIFIED\"", "\"type\":\"BOOKMARK\""},
      {"\"labels\":{", "\"labels\":{\"kueue.x-k8s.io/multikueue-origin\":\"multikueue\","},
      {"\"suspend\":true", "\"suspend\":false"},
      {"\"Admitted\"", "\"Evicted\""},
  };
  switch (any(8)) {
    case 0:
      body->resize(any(body->size()));
      break;
    case 1:
      body->clear();
      break;
    case 2:
      *body = std::string(any(20000), '[');
      break;
    case 3:
      std::swap(*body, earlier_);
      break;
    case 4:
      if (!body->empty()) (*body)[any(body->size())] = char(any(256));
      break;
    default: {
      const auto& [what, by] = swaps[any(std::size(swaps))];
      replace_all(body, what, by);
    }
  }
}

void Garbler::perhaps_change(double chance, net::HttpResponse* answer) {
  if (chance == 0 || !rng_.chance(chance)) return;
  if (rng_.chance(0.3)) {
    static const unsigned statuses[] = {100, 200, 201, 204, 299, 302, 304, 400, 401, 403, 404,
                                        405, 409, 410, 415, 422, 429, 499, 500, 503, 504, 599};
    answer->status = statuses[any(std::size(statuses))];
    answer->stream.reset();
    if (rng_.chance(0.5)) return;
  }
  if (answer->stream) return;
  std::string before = answer->body;
  change_text(&answer->body);
  if (rng_.chance(0.2)) earlier_ = std::move(before);
}

void Garbler::perhaps_change(double chance, std::string* piece) {
  if (chance == 0 || !rng_.chance(chance)) return;
  if (rng_.chance(0.2)) {
    *piece =
        "{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"apiVersion\":\"v1\","
        "\"status\":\"Failure\",\"reason\":\"Expired\",\"code\":410}}\n";
    return;
  }
  change_text(piece);
  if (rng_.chance(0.8) && (piece->empty() || piece->back() != '\n')) *piece += '\n';
}

}  // namespace regatta::simtest
