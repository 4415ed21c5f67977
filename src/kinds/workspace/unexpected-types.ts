/** Finds attributes of a workspace whose JSON type is not that of the API: such values are neither stored nor sent back. */
import type { Json } from '../../model/json.ts';
import { quoted } from '../../model/quoted.ts';
import type { WorkspaceItem } from '../../api/workspaces/workspace.ts';
import { fields } from './fields.ts';
import { answeredAttributes } from './live-workspace.ts';

interface AttributeType {
  readonly wireName: string;
  readonly wanted: 'text' | 'list' | 'boolean' | 'object';
}

/** The JSON type of each attribute. */
const attributeTypes: readonly AttributeType[] = [
  ...answeredAttributes.map(({ field, wireName }): AttributeType => {
    const { compare, default: byDefault } = fields[field] ?? {};
    if (compare?.shape === 'list') return { wireName, wanted: 'list' };
    return { wireName, wanted: typeof byDefault === 'boolean' ? 'boolean' : 'text' };
  }),
  { wireName: 'execution-mode', wanted: 'text' },
  { wireName: 'tag-names', wanted: 'list' },
  { wireName: 'vcs-repo', wanted: 'object' },
];

/** Why a document cannot be understood, as a clause: an attribute has the wrong type. */
export function whyUnexpected({ attributes }: WorkspaceItem): string | undefined {
  for (const { wireName, wanted } of attributeTypes) {
    const value = attributes[wireName] ?? null;
    const found = value === null ? wanted : typeOf(value);
    if (found !== wanted) return `its ${quoted(wireName)} is of type ${found}, not ${wanted}`;
    const parts = typeof value === 'object' ? Object.entries(value ?? {}) : [];
    const part = parts.find(([name, one]) => isUnexpectedPart(wireName, name, one));
    if (part !== undefined) return `its ${quoted(wireName)} holds a value of type ${typeOf(part[1])}`;
  }
  return undefined;
}

const repositoryTexts = ['identifier', 'branch', 'oauth-token-id', 'vcs-app-installation-id', 'tags-regex'];

/** The elements of all lists are texts; other members of a repository are not used. */
function isUnexpectedPart(wireName: string, name: string, part: Json): boolean {
  if (wireName !== 'vcs-repo') return typeof part !== 'string';
  const isFlag = name === 'ingress-submodules' && typeof part !== 'boolean';
  return part !== null && (isFlag || (repositoryTexts.includes(name) && typeof part !== 'string'));
}

function typeOf(value: Json): string {
  if (Array.isArray(value)) return 'list';
  return typeof value === 'string' ? 'text' : typeof value;
}
