/** The formats of texts in the schema of a seed. */
import { canonicalBlocks } from '../cluster-auth/address-blocks.ts';
import { parseDuration } from '../cluster-auth/durations.ts';
import { ROOT_POLICY } from '../cluster-auth/policy-rules.ts';
import { COMMON_FORMATS, type Formats, formatOf } from '../kernel/check-schema.ts';
import { isExactVersion } from '../workspaces/engine-releases.ts';
import { normalTagName, TAG_NAME_RULE } from '../workspaces/flat-tags.ts';
import { keyProblems, valueProblems } from '../workspaces/tag-bindings.ts';

export const SEED_FORMATS: Formats = {
  ...COMMON_FORMATS,
  'address-block': formatOf('an address or a block of addresses', isAddressBlock),
  duration: (value) => {
    const isDuration = value !== '' && (parseDuration(String(value)) ?? -1) >= 0;
    return isDuration ? [] : ['must be a duration: seconds, or a text such as 90m, 1h30m or 7d'];
  },
  /** A path below `auth/` that requests can reach: paths with `..` or `//` are redirected (wire/cluster-auth 2.1). */
  'mount-path': formatOf('a path: names with one slash between them', (path) =>
    path.split('/').every((name) => !['', '.', '..'].includes(name)),
  ),
  'policy-name': (value) => {
    if (typeof value !== 'string' || value === '') return ['must be a text that is not empty'];
    const isRoot = value.toLowerCase() === ROOT_POLICY;
    return isRoot ? [`must not be ${ROOT_POLICY}, which may do everything and cannot be written`] : [];
  },
  release: formatOf('a whole version, for example 1.9.8', isExactVersion),
  'tag-key': keyProblems,
  'tag-name': (value) => (normalTagName(value) === undefined ? [TAG_NAME_RULE] : []),
  'tag-value': valueProblems,
  'workspace-name': (value) =>
    typeof value === 'string' && /^[A-Za-z0-9_-]+$/.test(value)
      ? []
      : ['must be made of letters, numbers, - and _'],
};

/** Whether a text is an address or a block. The path of a socket is not: its canonical form is in quotes. */
function isAddressBlock(text: string): boolean {
  const blocks = canonicalBlocks([text]);
  return blocks.ok && !blocks.value[0]?.startsWith('"');
}
