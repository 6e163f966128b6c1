import { RunError } from '../../core/errors.js';
import { loadTokenizer } from '../tokenizers/tokenizer.js';

/** Several kinds of text, so that a network that was packed is tried on what it may be asked: news, code, a recipe, other languages. */
const TEXTS = [
  'The council met on Tuesday evening to decide whether the old bridge should be repaired or replaced. Engineers had warned for years that its pillars were weak, but the money was missing. After two hours of debate, most members voted for a new one, which is to be open within three years.',
  'def mean(values):\n    """Return the average of a list of numbers."""\n    if len(values) == 0:\n        raise ValueError("the list is empty")\n    total = 0\n    for value in values:\n        total += value\n    return total / len(values)\n\nprint(mean([1, 2, 3]))\n',
  'Heat the oil in a large pan and fry the onions until they are soft and golden. Add the garlic, the tomatoes and a pinch of salt, and let the sauce simmer for twenty minutes. Meanwhile, cook the pasta in plenty of boiling water, drain it, and serve it with the sauce and some fresh basil.',
  'Water boils at 100 degrees Celsius at sea level, but on high mountains it boils at lower temperatures, because the pressure of the air is lower there. This is why eggs take longer to cook in the mountains, and why a pressure cooker, which does the opposite, saves time and energy.',
  'Am Morgen fuhr der Zug pünktlich ab. Die Reisenden lasen Zeitung, tranken Kaffee oder sahen aus dem Fenster auf die Felder, über denen noch der Nebel lag. Erst kurz vor der Grenze hielt er an, und ein Beamter ging durch die Wagen und fragte jeden nach seinem Ausweis.',
  "La bibliothèque est ouverte du lundi au samedi, de neuf heures à dix-neuf heures. Pour emprunter des livres, il faut une carte, que l'on reçoit gratuitement à l'accueil. Chaque lecteur peut garder cinq livres pendant trois semaines, et les rendre aussi la nuit, dans la boîte près de la porte.",
] as const;

/** Most tokens of each text. */
const MOST_TOKENS = 48;

/**
 * Bundled texts as the tokenizer of a model folder reads them, all cut to one length.
 * @returns undefined where the folder has no tokenizer that can be read
 */
export async function probeTokens(folder: string): Promise<number[][] | undefined> {
  try {
    const tokenizer = await loadTokenizer(folder);
    const rows = TEXTS.map((text) => [...tokenizer.encode(text).ids]);
    const length = Math.min(MOST_TOKENS, ...rows.map((ids) => ids.length));
    return rows.map((ids) => ids.slice(0, length));
  } catch (error) {
    if (error instanceof RunError) return undefined;
    throw error;
  }
}
