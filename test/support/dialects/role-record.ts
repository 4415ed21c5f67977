/**
 * One role as a secrets service stores it: how it converts and merges writes, and what reads return. Written only from
 * wire/cluster-auth 2.4-2.7, so that a mistake in the program is not repeated here.
 */
export type Fields = Readonly<Record<string, unknown>>;

/** An error response; a 404 without texts means that there is nothing. */
export class Refusal extends Error {
  readonly status: number;
  readonly errors: readonly string[];
  constructor(status: number, ...errors: readonly string[]) {
    super(errors.join());
    this.status = status;
    this.errors = errors;
  }
}

const lists = [
  'bound_service_account_names',
  'bound_service_account_namespaces',
  'token_policies',
  'token_bound_cidrs',
];
const durations = ['token_ttl', 'token_max_ttl', 'token_explicit_max_ttl', 'token_period'];
const others = ['audience', 'alias_name_source', 'token_no_default_policy', 'token_num_uses', 'token_type'];
const selector = 'bound_service_account_namespace_selector';

/** Current fields by deprecated names that are still accepted. */
const deprecated: Readonly<Record<string, string>> = {
  policies: 'token_policies',
  bound_cidrs: 'token_bound_cidrs',
  num_uses: 'token_num_uses',
  ttl: 'token_ttl',
  max_ttl: 'token_max_ttl',
  period: 'token_period',
};

/** Only some services have this field (2.5). */
const strict = 'token_strictly_bind_ip';

/** The fields that a write may set. */
export function roleFieldsOf({ bindsStrictly }: { readonly bindsStrictly: boolean }): readonly string[] {
  return [...lists, ...durations, ...others, selector, ...(bindsStrictly ? [strict] : [])];
}

export class RoleRecord {
  /** `bound_service_account_namespaces` is null until it was written once */
  #stored: Record<string, unknown> = {
    bound_service_account_names: [],
    bound_service_account_namespaces: null,
    [selector]: '',
    audience: '',
    alias_name_source: 'serviceaccount_uid',
    token_bound_cidrs: [],
    token_explicit_max_ttl: 0,
    token_max_ttl: 0,
    token_no_default_policy: false,
    token_num_uses: 0,
    token_period: 0,
    token_policies: [],
    token_ttl: 0,
    token_type: 'default',
  };
  readonly #deprecated = new Set<string>();
  readonly #fields: readonly string[];

  constructor(fields: readonly string[] = roleFieldsOf({ bindsStrictly: false })) {
    this.#fields = fields;
    if (fields.includes(strict)) this.#stored[strict] = false;
  }

  /** Merges: a field that is not sent keeps its value, except for the selector (2.5). @throws Refusal */
  write(sent: Fields): void {
    const next: Record<string, unknown> = { ...this.#stored, [selector]: '' };
    for (const [old, today] of Object.entries(deprecated)) {
      if (sent[today] !== undefined) this.#deprecated.delete(old);
      else if (sent[old] !== undefined) {
        this.#deprecated.add(old);
        next[today] = coerce(today, sent[old]);
      }
    }
    for (const name of this.#fields) if (sent[name] !== undefined) next[name] = coerce(name, sent[name]);
    if (next['token_type'] === '') next['token_type'] = 'default';
    refuse(next);
    this.#stored = next;
  }

  /** The response to a read (2.7). */
  answer(): Fields {
    const { audience, ...rest } = this.#stored;
    const old = [...this.#deprecated].flatMap((name) => {
      const value = this.#stored[deprecated[name] ?? ''];
      return value === 0 || (Array.isArray(value) && value.length === 0) ? [] : [[name, value] as const];
    });
    return { ...rest, ...(audience === '' ? {} : { audience }), ...Object.fromEntries(old) };
  }
}

function coerce(name: string, value: unknown): unknown {
  if (name === 'token_bound_cidrs') return asList(value).map(asBlock);
  if (lists.includes(name)) return asList(value);
  if (durations.includes(name)) return asSeconds(name, value);
  return value;
}

function asList(value: unknown): string[] {
  if (value === '' || value === null) return [];
  return (Array.isArray(value) ? value : String(value).split(',')).map((item) => String(item).trim());
}

/** The prefix length of a single host is dropped (2.4). */
function asBlock(block: string): string {
  return block.replace(/^([\d.]+)\/32$/, '$1').replace(/^([\da-f:]+)\/128$/i, '$1');
}

function asSeconds(name: string, value: unknown): number {
  if (typeof value === 'number') return Math.trunc(value);
  const text = String(value);
  if (/^\d*$/.test(text)) return Number(text);
  if (/^\d+d$/.test(text)) return Number.parseInt(text, 10) * 86_400;
  if (!/^(\d+[hms])+$/.test(text)) throw new Refusal(400, `error converting input for field "${name}": bad`);
  const unit = { h: 3600, m: 60, s: 1 } as const;
  return [...text.matchAll(/(\d+)([hms])/g)].reduce(
    (sum, [, amount, name]) => sum + Number(amount) * unit[name as 'h' | 'm' | 's'],
    0,
  );
}

/** The checks of 2.5 that a client can run into, in the order and with the texts of the service. */
function refuse(role: Fields): void {
  const number = (name: string) => Number(role[name]);
  const [names, namespaces] = [
    asList(role['bound_service_account_names']),
    asList(role['bound_service_account_namespaces']),
  ];
  const checks: [boolean, string][] = [
    [
      role['token_type'] === 'batch' && number('token_period') > 0,
      "'token_type' cannot be 'batch' or 'default_batch' when set to generate periodic tokens",
    ],
    [
      role['token_type'] === 'batch' && number('token_num_uses') > 0,
      "'token_type' cannot be 'batch' or 'default_batch' when set to generate tokens with limited use count",
    ],
    [
      role[strict] === true && asList(role['token_bound_cidrs']).length > 0,
      "'token_strictly_bind_ip' conflicts with 'token_bound_cidrs'; set only one",
    ],
    [
      number('token_max_ttl') > 0 && number('token_ttl') > number('token_max_ttl'),
      "'token_ttl' cannot be greater than 'token_max_ttl'",
    ],
    [names.length === 0, '"bound_service_account_names" can not be empty'],
    [names.length > 1 && names.includes('*'), 'can not mix "*" with values'],
    [
      namespaces.length === 0 && role[selector] === '',
      '"bound_service_account_namespaces" can not be empty if "bound_service_account_namespace_selector" is not set',
    ],
    [
      !['serviceaccount_uid', 'serviceaccount_name'].includes(String(role['alias_name_source'])),
      'invalid alias_name_source, must be one of: serviceaccount_uid, serviceaccount_name',
    ],
  ];
  const failed = checks.find(([fails]) => fails);
  if (failed !== undefined) throw new Refusal(400, failed[1]);
}
