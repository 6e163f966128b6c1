export function sectionOf(changelog: string, heading: string): string | undefined;
export function findProblems(release: { version: string; isRehearsal: boolean }): string[];
