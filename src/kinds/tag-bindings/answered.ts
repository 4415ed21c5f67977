/**
 * Reads the tag bindings from the answer to a write. Only an addition is answered with bindings; all other writes are
 * answered with the workspace's document, which holds none (rule 40).
 */
import type { Call } from '../../model/plan/call.ts';
import { memberOf } from '../../model/json/json.ts';
import type { ReturnedFields } from '../../model/kind/kind.ts';
import type { Answer } from '../../model/wire.ts';
import { boundTags } from '../../services/workspaces/bound-tags.ts';

export function fieldsFromResponse({ path }: Call, { body }: Answer): ReturnedFields | undefined {
  const data = memberOf(body, 'data');
  if (path.at(-1) !== 'tag-bindings' || !Array.isArray(data)) return undefined;
  const { tags } = boundTags(data);
  return tags && { about: ['tags'], spec: { tags: tags.direct } };
}
