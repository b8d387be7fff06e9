#pragma once

/// Readers of foreign text, each fed with arbitrary bytes. What can be read is also used: it is
/// simulated, played as a scenario, or written and read again. No input may cause a crash, a hang,
/// or growth without bound.

#include <string_view>

namespace regatta::fuzz {

void manifests(std::string_view text);
void events(std::string_view text);  ///< events of a simulation with one queue
void scenario(std::string_view text);
void kubeconfig(std::string_view text);
void configuration(std::string_view text);

// Of a connection; the first byte says in pieces of which size the rest comes
void http_answer(std::string_view text);
void http_request(std::string_view text);

void json(std::string_view text);
void list(std::string_view text);
void watch(std::string_view text);
void status(std::string_view text);
void pem(std::string_view text);
void protobuf(std::string_view text);
void objects(std::string_view text);
void selector(std::string_view text);
void patch(std::string_view text);  ///< a list of two documents
void cel(std::string_view text);

}  // namespace regatta::fuzz
