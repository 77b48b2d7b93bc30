/* The frame reader: any bytes give arrays that can be read to their ends, or a clean refusal. */
#include "frames/vtp_read.h"
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    spate_config config = spate_default_config();
    config.threads = 1;
    spate_context *ctx;
    if (spate_open(&config, &ctx)) return 0;
    int64_t blocks = ctx->blocks_now;
    /* No byte more than there is, so that the sanitizer sees every step too far. */
    char *bytes = take(ctx, size ? size : 1, 1);
    if (bytes && size) memcpy(bytes, data, size);
    snapshot s;
    if (bytes && snapshot_read(ctx, "fuzz", bytes, size, &s) == SPATE_OK) {
        volatile double sum = 0;
        for (int a = 0; a < s.array_count; a++)
            for (int64_t i = 0; i < s.count; i++)
                sum += snapshot_value(&s.arrays[a], i, s.arrays[a].components - 1);
        (void)sum;
        snapshot_free(&s);
    } else if (spate_message(ctx)[0] == 0) {
        abort();
    }
    if (ctx->blocks_now != blocks) abort();
    spate_close(ctx);
    return 0;
}
