/** Ollama's clients write a tag behind a model's name; models here have none. */
export function modelName(name: string | null | undefined): string | undefined {
  return name?.replace(/:latest$/, '');
}

/** A model's name as Ollama lists it. */
export const taggedName = (modelId: string): string => `${modelId}:latest`;
