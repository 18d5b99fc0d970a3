/* SPDX-License-Identifier: Apache-2.0
 *
 * The built-in maps: how transformers names and stores the parameters of its models. GPT-2 stores weights [in,out],
 * and queries, keys and values in one.
 */
#include "train/name_map.h"

#include <string.h>

static const char gpt2[] = "prefix transformer.\n"
                           "E = transformer.wte.weight[1]\n"
                           "transformer.wte.weight                       -> tok.weight\n"
                           "transformer.wpe.weight                       -> pos.weight\n"
                           "transformer.h.*.ln_1.weight                  -> h.*.norm1.weight\n"
                           "transformer.h.*.ln_1.bias                    -> h.*.norm1.bias\n"
                           "transformer.h.*.attn.c_attn.weight[:,0:E] T  -> h.*.attn.wq.weight\n"
                           "transformer.h.*.attn.c_attn.weight[:,E:2E] T -> h.*.attn.wk.weight\n"
                           "transformer.h.*.attn.c_attn.weight[:,2E:3E] T -> h.*.attn.wv.weight\n"
                           "transformer.h.*.attn.c_attn.bias[0:E]        -> h.*.attn.wq.bias\n"
                           "transformer.h.*.attn.c_attn.bias[E:2E]       -> h.*.attn.wk.bias\n"
                           "transformer.h.*.attn.c_attn.bias[2E:3E]      -> h.*.attn.wv.bias\n"
                           "transformer.h.*.attn.c_proj.weight T         -> h.*.attn.wo.weight\n"
                           "transformer.h.*.attn.c_proj.bias             -> h.*.attn.wo.bias\n"
                           "transformer.h.*.ln_2.weight                  -> h.*.norm2.weight\n"
                           "transformer.h.*.ln_2.bias                    -> h.*.norm2.bias\n"
                           "transformer.h.*.mlp.c_fc.weight T            -> h.*.mlp.up.weight\n"
                           "transformer.h.*.mlp.c_fc.bias                -> h.*.mlp.up.bias\n"
                           "transformer.h.*.mlp.c_proj.weight T          -> h.*.mlp.down.weight\n"
                           "transformer.h.*.mlp.c_proj.bias              -> h.*.mlp.down.bias\n"
                           "transformer.ln_f.weight                      -> norm.weight\n"
                           "transformer.ln_f.bias                        -> norm.bias\n"
                           "lm_head.weight                               -> head.weight = tok.weight\n"
                           "ignore transformer.h.*.attn.bias\n"
                           "ignore transformer.h.*.attn.masked_bias\n";

static const char llama[] = "prefix model.\n"
                            "model.embed_tokens.weight                -> tok.weight\n"
                            "model.layers.*.input_layernorm.weight    -> h.*.norm1.weight\n"
                            "model.layers.*.self_attn.q_proj.weight   -> h.*.attn.wq.weight\n"
                            "model.layers.*.self_attn.q_proj.bias?    -> h.*.attn.wq.bias\n"
                            "model.layers.*.self_attn.k_proj.weight   -> h.*.attn.wk.weight\n"
                            "model.layers.*.self_attn.k_proj.bias?    -> h.*.attn.wk.bias\n"
                            "model.layers.*.self_attn.v_proj.weight   -> h.*.attn.wv.weight\n"
                            "model.layers.*.self_attn.v_proj.bias?    -> h.*.attn.wv.bias\n"
                            "model.layers.*.self_attn.o_proj.weight   -> h.*.attn.wo.weight\n"
                            "model.layers.*.self_attn.o_proj.bias?    -> h.*.attn.wo.bias\n"
                            "model.layers.*.post_attention_layernorm.weight -> h.*.norm2.weight\n"
                            "model.layers.*.mlp.gate_proj.weight      -> h.*.mlp.gate.weight\n"
                            "model.layers.*.mlp.gate_proj.bias?       -> h.*.mlp.gate.bias\n"
                            "model.layers.*.mlp.up_proj.weight        -> h.*.mlp.up.weight\n"
                            "model.layers.*.mlp.up_proj.bias?         -> h.*.mlp.up.bias\n"
                            "model.layers.*.mlp.down_proj.weight      -> h.*.mlp.down.weight\n"
                            "model.layers.*.mlp.down_proj.bias?       -> h.*.mlp.down.bias\n"
                            "model.norm.weight                        -> norm.weight\n"
                            "lm_head.weight                           -> head.weight = tok.weight\n"
                            "ignore *.rotary_emb.inv_freq\n";

const char *dt__name_map_text(const char *name) {
    static const struct { const char *name, *text; } maps[] = {{"gpt2", gpt2}, {"llama", llama}};
    for (size_t i = 0; i < sizeof maps / sizeof *maps; i++)
        if (!strcmp(name, maps[i].name))
            return maps[i].text;
    return NULL;
}
