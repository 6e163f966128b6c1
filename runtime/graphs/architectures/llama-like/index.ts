import type { AnyArchitecture } from '../../architecture.js';
import { apertus, arcee, ministral, seedOss } from './kin.js';
import { deepseekV2, deepseekV3 } from './deepseek.js';
import { gemma, gemma2, gemma3, vaultgemma } from './gemma.js';
import { hunyuanDense, hunyuanMoe } from './hunyuan.js';
import { ernieMoe } from './ernie-moe.js';
import { exaone4, olmo3 } from './hybrids.js';
import { nemotron, olmo, starcoder2 } from './layer-norms.js';
import { gemma3n } from './gemma3n/gemma3n.js';
import { gptOss } from './gpt-oss.js';
import { granite, graniteMoe, graniteMoeHybrid, graniteMoeShared } from './granite.js';
import { lfm2 } from './lfm2.js';
import { llama } from './llama.js';
import { bamba, falconH1 } from './mamba-hybrids.js';
import { mistral, mixtral } from './mistral.js';
import { flexOlmo, olmoe, qwen2Moe, qwen3Moe } from './mixtures.js';
import { cohere, cohere2, ernie, glm, glm4, helium } from './neighbours.js';
import { olmo2, phi3, smollm3 } from './others.js';
import { phimoe } from './phimoe.js';
import { qwen2, qwen3 } from './qwen.js';
import { dots1, glm4Moe } from './routed-kin.js';

/** Language models that others can be put together with. */
export const LLAMA_LIKE: readonly AnyArchitecture[] = [
  ...[llama, mistral, mixtral, qwen2, qwen3, qwen3Moe, gemma, gemma2, gemma3, gemma3n],
  ...[deepseekV2, deepseekV3, gptOss, lfm2, bamba, falconH1],
  ...[granite, graniteMoe, graniteMoeShared, graniteMoeHybrid],
  ...[olmo2, olmoe, phi3, smollm3],
  ...[cohere, cohere2, ernie, glm, glm4, helium],
  ...[exaone4, nemotron, olmo, olmo3, qwen2Moe, starcoder2],
  ...[apertus, arcee, ministral, seedOss, vaultgemma, hunyuanDense, hunyuanMoe],
  ...[ernieMoe, phimoe, flexOlmo, dots1, glm4Moe],
];
