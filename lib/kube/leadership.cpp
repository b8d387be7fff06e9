#include "lib/kube/leadership.h"

namespace regatta::kube {

Status Leadership::may_send() const {
  if (held()) return ok();
  return Error(Errc::denied, "not sent: this process does not lead, so it may not write");
}

}  // namespace regatta::kube
