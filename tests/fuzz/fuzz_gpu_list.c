// SPDX-License-Identifier: GPL-3.0-or-later
/* Lists of GPUs ("0-63/8, 70"): any text names GPUs that there are, each once, or is refused with a sentence. */
#include "config/gpu_list.h"

#include "base/error.h"

#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

enum { GPUS = 100 };

static void check_list(const struct gpu_list *list) {
    bool seen[GPUS] = {false};
    for (uint32_t i = 0; i < list->n_gpus; i++) {
        REQUIRE(list->gpus[i] < GPUS && !seen[list->gpus[i]], "GPU %u", list->gpus[i]);
        seen[list->gpus[i]] = true;
    }
    uint32_t *places = gpu_list_places(list, GPUS);
    for (uint32_t i = 0; i < list->n_gpus; i++) {
        REQUIRE(places[list->gpus[i]] == i, "place of GPU %u", list->gpus[i]);
    }
    free(places);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *text = calloc(size + 1, 1), problem[128] = "";
    struct gpu_list list = {0};
    if (text == NULL) {
        abort();
    }
    memcpy(text, data, size);
    if (gpu_list_read(&list, text, GPUS, problem, sizeof problem)) {
        check_list(&list);
        gpu_list_fini(&list);
    } else {
        REQUIRE(problem[0] != '\0', "refused without a sentence");
    }
    free(text);
    return 0;
}
