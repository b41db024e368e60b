// SPDX-License-Identifier: GPL-3.0-or-later
/* Logs of nccl-tests: any text is read, or refused with a number; what is read are sizes and times that something can be divided by. */
#include "command/perf_log.h"

#include "base/error_id.h"

#include "fuzz.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct error error = {0};
    struct perf_log log;
    char *text = calloc(size + 1, 1);
    if (text == NULL) {
        abort();
    }
    memcpy(text, data, size);
    if (perf_log_read_text("input.log", text, &log, &error)) {
        REQUIRE(log.count > 0, "an empty log was taken");
        for (uint32_t i = 0; i < log.count; i++) {
            REQUIRE(log.rows[i].bytes > 0 && isfinite(log.rows[i].time_us) && log.rows[i].time_us > 0, "row %u", i);
            REQUIRE(isfinite(log.rows[i].algbw) && isfinite(log.rows[i].busbw), "bandwidth of row %u", i);
        }
        perf_log_free(&log);
    } else {
        REQUIRE(error.id == ERROR_ID_LOG && error.message[0] != '\0', "refused without number or message");
    }
    free(text);
    return 0;
}
