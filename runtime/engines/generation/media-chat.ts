import { RunError } from '../../core/errors.js';
import type { MediaChat, MediaMessage } from '../../core/handles/index.js';
import type { LoadRequest } from '../../core/load-request.js';
import {
  type ChatTemplate,
  createChatTemplate,
  loadProcessorTemplate,
} from '../chat-templates/chat-template.js';
import { openPromptEncoder } from '../long-texts/thread-aside.js';
import { readOptionalJson } from '../repository/model-folder.js';
import { readersIn } from '../repository/named-readers.js';
import { readModelConfig } from '../repository/model-config.js';
import { tokenText } from '../tokenizers/tokenizer-json.js';
import { loadTokenizer, type TextTokenizer } from '../tokenizers/tokenizer.js';
import { openDecoder } from './decoding/open-decoder.js';
import type { Prompt } from './decoding/prompt.js';
import { loadFlorenceChat } from './florence-chat.js';
import { checkPrompt, generateFromPrompt, type PromptModel } from './generate-from-prompt.js';
import { createGrammars } from './grammar/grammars.js';
import { asTemplateReads, type GivenMedium, mediaOf, textsOf } from './prompts/media/conversation.js';
import type { MediaFamilies, MediumKind } from './prompts/media/families.js';
import { readFamilies } from './prompts/media/read-families.js';
import type { MediumWork } from './prompts/media/medium-encoder.js';
import { type MediaEncoders, openMediaEncoders } from './prompts/media/media-encoders.js';
import {
  type ChatMedium,
  type EncodedMedium,
  expandMedia,
  mediaPrompt,
  promptBeside,
} from './prompts/media/media-prompt.js';
import { contextLimitOf } from './settings/answer-length.js';
import { refuseInputPenalties, withoutInputPenalties } from './settings/input-penalties.js';
import { withStartToken } from './settings/start-token.js';
import type { AskedChat } from './answers/asked-chat.js';
import { createChatAnswers } from './answers/chat-answers.js';

/** Language models that read images, audio clips or videos among words. */
export async function loadMediaChat(request: LoadRequest): Promise<MediaChat> {
  const { dir } = request;
  const config = await readModelConfig(dir);
  if (readersIn(request).prompts?.image === 'florence2') return loadFlorenceChat(request, config);
  const tokenizer = await loadTokenizer(dir);
  const families = await readFamilies(request, config, tokenizer);
  const own = await loadProcessorTemplate(dir, tokenizer.config, families.audio?.template);
  if (own && families.image?.asks)
    throw new RunError(
      'not_ready',
      'this model reads texts as they are, and its repository has a chat template',
    );
  const template = own ?? familyTemplate(families.image?.template, tokenizer);
  if (!template) throw new RunError('not_ready', 'the model has no chat template');
  // One after the other: what media need is set aside before the decoder divides the rest.
  const { encoders, rest } = await openMediaEncoders(request, families);
  const decoder = await openDecoder(rest, config);
  const repository = (await readOptionalJson(dir, 'generation_config.json')) ?? config;
  const model: PromptModel = {
    ...{
      decoder,
      tokenizer,
      grammars: createGrammars(tokenizer, request.memory),
      repository: families.image?.fromVectors ? withoutInputPenalties(repository) : repository,
    },
    ...contextLimitOf(config, decoder, readersIn(request).positions),
  };
  const cleanUp = tokenizer.config['clean_up_tokenization_spaces'] === true;
  const answers = createChatAnswers(template, tokenizer);
  const write = createWriter(families, { template, tokenizer });
  const encode = openPromptEncoder(request, tokenizer);
  return {
    tools: answers.support,
    async *chat(messages, variables, { num_frames, fps, ...options }, signal) {
      const asked = answers.ask({ messages, variables, options });
      if (families.image?.fromVectors) refuseInputPenalties(asked.options);
      const continues = options.continue_final_message ?? messages.at(-1)?.role === 'assistant';
      const all = mediaOf(asked.messages);
      const images = all.filter(({ kind }) => kind === 'image').length;
      const question = textsOf(asked.messages);
      const work = { sampling: { num_frames, fps }, images, question, signal };
      const given = await measured(encoders, all, work, (count) => decoder.checkPrompt(count));
      const { text, specialTokens, media } = write(asked, { variables: asked.variables, continues }, given);
      const ids = await encode(text, { specialTokens }, signal);
      const { grammar } = asked;
      checkPrompt(model, { tokens: ids, options: asked.options, grammar });
      const encoded: EncodedMedium[] = [];
      for (const { kind, bytes } of media) encoded.push(await encoders[kind]!.encode(bytes, work));
      const prompt = promptOf(families, ids, encoded);
      const writes = asked.writes();
      const request = { prompt, options: asked.options, cleanUp, writes, grammar, signal };
      return yield* asked.checked(generateFromPrompt(model, request));
    },
    async *generate(given, options, signal) {
      // Refuses positions of media.
      const { text } = expandMedia(families, given, []);
      const ids = await encode(text, { specialTokens: options.add_special_tokens ?? undefined }, signal);
      const tokens = withStartToken(ids, model);
      checkPrompt(model, { tokens, options });
      const prompt = promptOf(families, tokens, []);
      return yield* generateFromPrompt(model, { prompt, options, cleanUp, signal });
    },
  };
}

interface MeasuredMedium extends ChatMedium, GivenMedium {
  kind: MediumKind;
}

/**
 * What each medium will be.
 * @param check told of the features so far
 * @throws RunError as encoders; 422 for a kind that the model does not read
 */
async function measured(
  encoders: MediaEncoders,
  given: readonly GivenMedium[],
  work: MediumWork,
  check: (count: number) => void,
): Promise<MeasuredMedium[]> {
  const media: MeasuredMedium[] = [];
  let features = 0;
  for (const { kind, bytes } of given) {
    const encoder = encoders[kind];
    if (!encoder) throw new RunError('unprocessable', `messages: this model reads no ${kind}`);
    const layout = await encoder.measure(bytes, work);
    media.push({ kind, bytes, layout });
    features += layout.count;
    check(features);
  }
  return media;
}

/** The template of a family, where it has one. */
const familyTemplate = (template: string | undefined, { config }: TextTokenizer): ChatTemplate | undefined =>
  template === undefined
    ? undefined
    : createChatTemplate({ templates: { default: template }, tokenizerConfig: config });

type Writer = (
  asked: AskedChat<MediaMessage>,
  options: Parameters<ChatTemplate['render']>[1],
  media: readonly MeasuredMedium[],
) => { text: string; specialTokens: boolean; media: MeasuredMedium[] };

/** Conversations to what is tokenised, with positions for the features of their media. */
function createWriter(
  families: MediaFamilies,
  { template, tokenizer }: { template: ChatTemplate; tokenizer: TextTokenizer },
): Writer {
  const bos = tokenText(tokenizer.config['bos_token']);
  const { template: own, alone } = families.video ?? {};
  const forVideos = familyTemplate(own, tokenizer) ?? template;
  return ({ messages, begin }, options, media) => {
    const kinds = new Set(media.map(({ kind }) => kind));
    if (alone && kinds.size > 1)
      throw new RunError(
        'unprocessable',
        'messages: this model reads images or videos, not both in one conversation',
      );
    const fitting = kinds.has('video') ? forVideos : template;
    const written = fitting.render(asTemplateReads(messages, fitting.source, families), options);
    const { text, media: placed } = expandMedia(families, written, media);
    // A template that writes the start token itself wants no second one.
    const specialTokens =
      fitting.source !== families.image?.template && (bos === '' || !text.startsWith(bos));
    const whole = text + begin(text);
    return { text: families.image?.begin?.(whole) ?? whole, specialTokens, media: placed };
  };
}

function promptOf(families: MediaFamilies, ids: readonly number[], media: readonly EncodedMedium[]): Prompt {
  const { image } = families;
  if (image?.look) return promptBeside(image.look, ids, media);
  const all = [image, families.audio, families.video].filter((family) => family !== undefined);
  const positions = all.find((family) => family.positions)?.positions;
  const ahead = all.find((family) => family.ahead)?.ahead;
  const tokenIds = all.flatMap(({ tokenId, otherIds = [] }) => [tokenId, ...otherIds]);
  return mediaPrompt({ tokenIds, positions, ahead }, ids, media);
}
