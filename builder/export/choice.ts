/** When graphs are exported: where a graph is known to be right and there is no other; also untried; never. */
export const EXPORT_CHOICES = ['auto', 'force', 'never'] as const;
export type ExportChoice = (typeof EXPORT_CHOICES)[number];
