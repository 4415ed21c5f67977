/**
 * What the answer to a write tells of tag bindings: an addition is answered with the bindings that it made. A document of
 * the workspace, which answers all other writes, holds none (rule 40).
 */
import type { Call } from '../../model/plan/call.ts';
import { memberOf } from '../../model/json/json.ts';
import type { Answered } from '../../model/kind/kind.ts';
import type { Answer } from '../../model/wire.ts';
import { boundTags } from '../../services/workspaces/bound-tags.ts';

export function answered({ path }: Call, { body }: Answer): Answered | undefined {
  const data = memberOf(body, 'data');
  if (path.at(-1) !== 'tag-bindings' || !Array.isArray(data)) return undefined;
  const { tags } = boundTags(data);
  return tags && { about: ['tags'], spec: { tags: tags.direct } };
}
