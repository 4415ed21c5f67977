/** From a kind in its own types to one that planner, applier and reports can hold beside all others. */
import type { LiveResource, Spec } from '../resource/resource.ts';
import type { Kind } from './kind.ts';
import type { SchemaOf } from './spec-types.ts';

/** A kind as its own folder knows it, with the schema that its declared type comes from. */
export interface KindForm<D extends Spec, L extends LiveResource, P extends Spec = D> extends Kind<D, L, P> {
  readonly specSchema: SchemaOf<D>;
}

/**
 * The kind, as those see it who know none. Its types are forgotten here, and kept by what these hand to it: specs that
 * its own schema admits, live resources that its own `read` made, and what its own `prepare` made of them. The types cannot
 * say that of a registry of all kinds, hence the one cast.
 */
export function defineKind<D extends Spec, L extends LiveResource, P extends Spec = D>(
  form: KindForm<D, L, P>,
): Kind {
  return form as unknown as Kind;
}
