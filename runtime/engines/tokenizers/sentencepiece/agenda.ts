/** Two neighbouring symbols that may become one. */
export interface Candidate {
  /** Places of their first characters. */
  left: number;
  right: number;
  /** Place behind the last character. */
  end: number;
  score: number;
}

/** Candidates by their scores, the highest first; among equal ones the leftmost. A binary heap. */
export interface Agenda {
  push(candidate: Candidate): void;
  pop(): Candidate | undefined;
}

const comesFirst = (a: Candidate, b: Candidate): boolean =>
  a.score > b.score || (a.score === b.score && a.left < b.left);

export function createAgenda(): Agenda {
  const heap: Candidate[] = [];

  function exchange(a: number, b: number): void {
    [heap[a], heap[b]] = [heap[b]!, heap[a]!];
  }

  return {
    push(candidate) {
      let at = heap.push(candidate) - 1;
      for (
        let parent = (at - 1) >> 1;
        at > 0 && comesFirst(heap[at]!, heap[parent]!);
        parent = (at - 1) >> 1
      ) {
        exchange(at, parent);
        at = parent;
      }
    },
    pop() {
      const first = heap[0];
      const last = heap.pop();
      if (heap.length === 0) return first;
      heap[0] = last!;
      for (let at = 0; ;) {
        const children = [2 * at + 1, 2 * at + 2].filter((child) => child < heap.length);
        const best = children.reduce(
          (top, child) => (comesFirst(heap[child]!, heap[top]!) ? child : top),
          at,
        );
        if (best === at) return first;
        exchange(at, best);
        at = best;
      }
    },
  };
}
