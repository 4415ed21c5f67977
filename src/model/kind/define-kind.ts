/** Turns a kind with its own types into the general type that planner, applier and reports work with. */
import type { LiveResource, Spec } from '../resource/resource.ts';
import type { Kind } from './kind.ts';
import type { SchemaOf } from './spec-types.ts';

/** A kind with its own types, and the schema that its declared type comes from. */
export interface KindForm<D extends Spec, L extends LiveResource, P extends Spec = D> extends Kind<D, L, P> {
  readonly specSchema: SchemaOf<D>;
}

/**
 * The kind without its own types. The cast is safe because callers pass a kind only specs that its own schema admits, live
 * resources that its own `read` made, and specs that its own `prepare` made. The type of a registry of all kinds cannot
 * express that.
 */
export function defineKind<D extends Spec, L extends LiveResource, P extends Spec = D>(
  form: KindForm<D, L, P>,
): Kind {
  return form as unknown as Kind;
}
