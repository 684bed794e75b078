/* A stand-in for libnvidia-ml.so.1 with as many GPUs as FAKE_NVML_COUNT says.

   FAKE_NVML_NAME, FAKE_NVML_TOTAL_MIB and FAKE_NVML_KEPT_MIB describe them; FAKE_NVML_SECOND names
   another kind for every GPU after the first; FAKE_NVML_SLICE names two MIG slices of 9.75 GiB
   that each GPU is cut into. FAKE_NVML_INIT is the code that nvmlInit returns. FAKE_NVML_SENSORS
   lets it tell power, clocks, processes and errors; FAKE_NVML_PID is the process on the first GPU;
   FAKE_NVML_ECC makes its count of corrected errors grow with every question.
*/
#include <stdio.h>
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
  snprintf(out, size, "%s-%d", is_slice(device) ? "MIG" : "GPU",
           1 + (int)((int *)device - (is_slice(device) ? slices : gpus)));
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

static int blind(void *device) { return !getenv("FAKE_NVML_SENSORS") || is_slice(device); }
static int told(void *device, unsigned *out, unsigned value) {
  if (blind(device)) return NOT_SUPPORTED;
  *out = value;
  return OK;
}
struct utilization { unsigned gpu, memory; };
int nvmlDeviceGetUtilizationRates(void *device, struct utilization *out) {
  out->memory = 0;
  return told(device, &out->gpu, 75);
}
int nvmlDeviceGetPowerUsage(void *device, unsigned *out) { return told(device, out, 351500); }
int nvmlDeviceGetTemperature(void *device, int sensor, unsigned *out) {
  (void)sensor;
  return told(device, out, 61);
}
int nvmlDeviceGetClockInfo(void *device, int clock, unsigned *out) {
  (void)clock;
  return told(device, out, 1755);
}
int nvmlDeviceGetCurrentClocksEventReasons(void *device, bytes *out) {
  if (blind(device)) return NOT_SUPPORTED;
  *out = 0x204; /* the power cap, and one without a name */
  return OK;
}
int nvmlDeviceGetTotalEccErrors(void *device, int kind, int counter, bytes *out) {
  static bytes corrected;
  (void)counter;
  if (blind(device)) return NOT_SUPPORTED;
  *out = kind == 0 && getenv("FAKE_NVML_ECC") ? corrected++ : 0;
  return OK;
}
struct process { unsigned pid; bytes used; unsigned instance, compute; };
int nvmlDeviceGetComputeRunningProcesses_v3(void *device, unsigned *count, struct process *out) {
  if (blind(device)) return NOT_SUPPORTED;
  if (*count < 2) {
    *count = 2;
    return 7; /* too small */
  }
  *count = 2;
  out[0] = (struct process){atoi(text("FAKE_NVML_PID", "1")), 5ULL << 30, 0, 0};
  out[1] = (struct process){4000000, 1ULL << 30, 0, 0};
  return OK;
}

/* The condition of a GPU; FAKE_NVML_WORN makes it a bad one. */
static int worn(void) { return getenv("FAKE_NVML_WORN") != 0; }
int nvmlSystemGetCudaDriverVersion_v2(int *out) {
  *out = 13000;
  return OK;
}
int nvmlDeviceGetCurrPcieLinkGeneration(void *device, unsigned *out) { return told(device, out, 1); }
int nvmlDeviceGetMaxPcieLinkGeneration(void *device, unsigned *out) { return told(device, out, 5); }
int nvmlDeviceGetCurrPcieLinkWidth(void *device, unsigned *out) {
  return told(device, out, worn() ? 8 : 16);
}
int nvmlDeviceGetMaxPcieLinkWidth(void *device, unsigned *out) { return told(device, out, 16); }
int nvmlDeviceGetEnforcedPowerLimit(void *device, unsigned *out) {
  return told(device, out, worn() ? 500000 : 700000);
}
int nvmlDeviceGetPowerManagementDefaultLimit(void *device, unsigned *out) {
  return told(device, out, 700000);
}
int nvmlDeviceGetMaxClockInfo(void *device, int clock, unsigned *out) {
  (void)clock;
  return told(device, out, 1980);
}
int nvmlDeviceGetEccMode(void *device, unsigned *now, unsigned *later) {
  *later = 1;
  return told(device, now, !worn());
}
int nvmlDeviceGetRemappedRows(void *device, unsigned *corrected, unsigned *uncorrected,
                              unsigned *pending, unsigned *failed) {
  if (blind(device)) return NOT_SUPPORTED;
  *corrected = *uncorrected = 1;
  *pending = 0;
  *failed = worn();
  return OK;
}
int nvmlDeviceGetComputeMode(void *device, unsigned *out) { return told(device, out, worn() ? 3 : 0); }
int nvmlDeviceGetPersistenceMode(void *device, unsigned *out) { return told(device, out, 1); }
int nvmlDeviceGetVirtualizationMode(void *device, unsigned *out) {
  return told(device, out, worn() ? 2 : 0);
}
int nvmlDeviceGetNvLinkState(void *device, unsigned link, unsigned *out) {
  if (link >= 18) return NOT_SUPPORTED;
  return told(device, out, 1);
}
int nvmlDeviceGetTopologyCommonAncestor(void *one, void *other, int *out) {
  (void)other;
  return told(one, (unsigned *)out, 40);
}
int nvmlDeviceGetP2PStatus(void *one, void *other, int kind, int *out) {
  (void)other, (void)kind;
  return told(one, (unsigned *)out, worn() ? 5 : 0);
}
