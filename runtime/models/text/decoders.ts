import type { AnyFamily } from '../family.js';
import { apertus } from './apertus.js';
import { arcee } from './arcee.js';
import { ministral } from './ministral.js';
import { seedOss } from './seed-oss.js';
import { deepseekV2 } from './deepseek-v2.js';
import { deepseekV3 } from './deepseek-v3.js';
import { gemma } from './gemma.js';
import { gemma2 } from './gemma2.js';
import { gemma3 } from './gemma3.js';
import { vaultgemma } from './vaultgemma.js';
import { hunyuanDense } from './hunyuan-v1-dense.js';
import { hunyuanMoe } from './hunyuan-v1-moe.js';
import { ernieMoe } from './ernie-moe.js';
import { exaone4 } from './exaone4.js';
import { olmo3 } from './olmo3.js';
import { nemotron } from './nemotron.js';
import { olmo } from './olmo.js';
import { starcoder2 } from './starcoder2.js';
import { gemma3n } from './gemma3n/gemma3n.js';
import { gemma4 } from './gemma4/gemma4.js';
import { gemma4Unified } from './gemma4/unified.js';
import { gptOss } from './gpt-oss.js';
import { granite } from './granite.js';
import { graniteMoe } from './granitemoe.js';
import { graniteMoeHybrid } from './granitemoehybrid.js';
import { graniteMoeShared } from './granitemoeshared.js';
import { lfm2 } from './lfm2.js';
import { lfm3 } from './lfm3.js';
import { llama } from './llama.js';
import { bamba } from './bamba.js';
import { falconH1 } from './falcon-h1.js';
import { mistral } from './mistral.js';
import { mixtral } from './mixtral.js';
import { flexOlmo } from './flex-olmo.js';
import { olmoe } from './olmoe.js';
import { qwen2Moe } from './qwen2-moe.js';
import { qwen3Moe } from './qwen3-moe.js';
import { cohere } from './cohere.js';
import { cohere2 } from './cohere2.js';
import { cohereCompassText } from './cohere-compass.js';
import { ernie } from './ernie4-5.js';
import { glm } from './glm.js';
import { glm4 } from './glm4.js';
import { helium } from './helium.js';
import { opt } from './opt.js';
import { olmo2 } from './olmo2.js';
import { phi3 } from './phi3.js';
import { smollm3 } from './smollm3.js';
import { phimoe } from './phimoe.js';
import { qwen2 } from './qwen2.js';
import { qwen3 } from './qwen3.js';
import { dots1 } from './dots1.js';
import { glm4MoeLite } from './glm4-moe-lite.js';
import { lfm2Moe } from './lfm2-moe.js';
import { minimaxM2 } from './minimax-m2.js';
import { ministral3 } from './ministral3.js';
import { qwen35 } from './qwen3-5.js';
import { qwen35Moe } from './qwen3-5-moe.js';
import { afmoe } from './afmoe.js';
import { exaoneMoe } from './exaone-moe.js';
import { graniteMoeSwa, graniteSwa } from './granite-swa.js';
import { hyV3 } from './hy-v3.js';
import { kimiLinear } from './kimi-linear.js';
import { llama4 } from './llama4.js';
import { mistral4 } from './mistral4.js';
import { olmoHybrid } from './olmo-hybrid.js';
import { qwen3Next } from './qwen3-next.js';
import { glm4Moe } from './glm4-moe.js';
import { cwm } from './cwm.js';
import { exaone } from './exaone.js';
import { hyperclovax } from './hyperclovax.js';
import { internlm3 } from './internlm3.js';
import { iquestcoder } from './iquestcoder.js';
import { jais2 } from './jais2.js';
import { mellum } from './mellum.js';
import { minicpm3 } from './minicpm3.js';
import { sarvamMla } from './sarvam-mla.js';
import { solarOpen } from './solar-open.js';
import { youtu } from './youtu.js';

/** Language models that others can be put together with. */
export const LLAMA_LIKE: readonly AnyFamily[] = [
  ...[llama, mistral, mixtral, qwen2, qwen3, qwen3Moe, gemma, gemma2, gemma3, gemma3n],
  ...[deepseekV2, deepseekV3, gptOss, lfm2, bamba, falconH1],
  ...[granite, graniteMoe, graniteMoeShared, graniteMoeHybrid],
  ...[olmo2, olmoe, phi3, smollm3],
  ...[cohere, cohere2, ernie, glm, glm4, helium],
  ...[exaone4, nemotron, olmo, olmo3, qwen2Moe, starcoder2],
  ...[apertus, arcee, ministral, seedOss, vaultgemma, hunyuanDense, hunyuanMoe],
  ...[ernieMoe, phimoe, flexOlmo, dots1, glm4Moe, glm4MoeLite, lfm2Moe, minimaxM2, ministral3],
  ...[qwen35, qwen35Moe, qwen3Next, gemma4, gemma4Unified, lfm3, cohereCompassText],
  ...[afmoe, exaoneMoe, graniteSwa, graniteMoeSwa, hyV3, mistral4, olmoHybrid, llama4, kimiLinear],
  ...[cwm, exaone, hyperclovax, internlm3, iquestcoder, jais2, solarOpen],
  ...[mellum, minicpm3, sarvamMla, youtu, opt],
];
