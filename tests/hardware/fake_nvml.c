/* A stand-in for libnvidia-ml.so.1 with as many GPUs as FAKE_NVML_COUNT says.

   FAKE_NVML_NAME, FAKE_NVML_TOTAL_MIB and FAKE_NVML_KEPT_MIB describe them; FAKE_NVML_SECOND names
   another kind for every GPU after the first; FAKE_NVML_SLICE names two MIG slices of 9.75 GiB
   that each GPU is cut into. FAKE_NVML_INIT is the code that nvmlInit returns.
*/
#include <stdlib.h>
#include <string.h>

enum { OK = 0, NOT_SUPPORTED = 3, NOT_FOUND = 6 };
typedef unsigned long long bytes;
static int gpus[16], slices[2];

static const char *text(const char *name, const char *otherwise) {
  const char *value = getenv(name);
  return value ? value : otherwise;
}
static bytes mib(const char *name, const char *otherwise) {
  return strtoull(text(name, otherwise), 0, 10) << 20;
}
static int is_slice(void *device) { return device == &slices[0] || device == &slices[1]; }

int nvmlInit_v2(void) { return atoi(text("FAKE_NVML_INIT", "0")); }
int nvmlInitWithFlags(unsigned flags) { (void)flags; return nvmlInit_v2(); }
int nvmlShutdown(void) { return OK; }
const char *nvmlErrorString(int code) { (void)code; return "Driver Not Loaded"; }
int nvmlSystemGetDriverVersion(char *out, unsigned size) {
  strncpy(out, "580.65.06", size);
  return OK;
}
int nvmlDeviceGetCount_v2(unsigned *count) {
  *count = atoi(text("FAKE_NVML_COUNT", "1"));
  return OK;
}
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **device) {
  *device = &gpus[index];
  return OK;
}
int nvmlDeviceGetName(void *device, char *out, unsigned size) {
  const char *name = text("FAKE_NVML_NAME", "NVIDIA H100 80GB HBM3");
  if (is_slice(device)) name = getenv("FAKE_NVML_SLICE");
  else if (device != &gpus[0]) name = text("FAKE_NVML_SECOND", name);
  strncpy(out, name, size);
  return OK;
}
int nvmlDeviceGetUUID(void *device, char *out, unsigned size) {
  strncpy(out, is_slice(device) ? "MIG-1" : "GPU-1", size);
  return OK;
}
int nvmlDeviceGetCudaComputeCapability(void *device, int *major, int *minor) {
  (void)device;
  *major = 9;
  *minor = 0;
  return OK;
}
int nvmlDeviceGetMigMode(void *device, unsigned *now, unsigned *later) {
  (void)device;
  if (!getenv("FAKE_NVML_SLICE")) return NOT_SUPPORTED;
  *now = *later = 1;
  return OK;
}
int nvmlDeviceGetMaxMigDeviceCount(void *device, unsigned *count) {
  (void)device;
  *count = 7;
  return OK;
}
int nvmlDeviceGetMigDeviceHandleByIndex(void *device, unsigned index, void **slice) {
  (void)device;
  if (index > 1) return NOT_FOUND;
  *slice = &slices[index];
  return OK;
}
struct memory_v2 { unsigned version; bytes total, reserved, free, used; };
struct memory { bytes total, free, used; };
int nvmlDeviceGetMemoryInfo_v2(void *device, struct memory_v2 *memory) {
  if (getenv("FAKE_NVML_OLD")) return NOT_SUPPORTED;
  memory->total = is_slice(device) ? 9984ULL << 20 : mib("FAKE_NVML_TOTAL_MIB", "81559");
  memory->reserved = is_slice(device) ? 0 : mib("FAKE_NVML_KEPT_MIB", "551");
  memory->used = 1ULL << 30;
  memory->free = memory->total - memory->reserved - memory->used;
  return OK;
}
int nvmlDeviceGetMemoryInfo(void *device, struct memory *memory) {
  (void)device;
  memory->total = mib("FAKE_NVML_TOTAL_MIB", "81559");
  memory->used = 1ULL << 30;
  memory->free = memory->total - memory->used;
  return OK;
}
