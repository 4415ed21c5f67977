/**
 * The shapes of JSON:API that answers are made of.
 * Invariant: a resource is identified by type and id together; `included` never holds the same one twice.
 */

export interface Identifier {
  readonly id: string;
  readonly type: string;
}

export interface Relationship {
  readonly data?: Identifier | readonly Identifier[] | null;
  readonly links?: { readonly related: string };
}

export interface Resource {
  /** Absent only where the API gives none: effective tag bindings that are read by themselves. */
  readonly id?: string;
  readonly type: string;
  readonly attributes?: Readonly<Record<string, unknown>>;
  readonly relationships?: Readonly<Record<string, Relationship>>;
  readonly links?: Readonly<Record<string, string>>;
}

/** Drops repeated resources, keeping the first of each. */
export function withoutRepeats(resources: readonly Resource[]): Resource[] {
  const seen = new Map<string, Resource>();
  for (const resource of resources) {
    const key = `${resource.type} ${resource.id}`;
    if (!seen.has(key)) seen.set(key, resource);
  }
  return [...seen.values()];
}
