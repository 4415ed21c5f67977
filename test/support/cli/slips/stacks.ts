/** Mistakes in the stack file. */
import { stack, type Slip, slip } from './slip.ts';

export const stacks: readonly Slip[] = [
  slip(
    'a default has half of a surrogate pair',
    stack,
    ['executionMode: remote,', 'executionMode: remote, description: "\\U0000D83D",'],
    ['lone-surrogate 18:54', 'write the character itself, or its whole code, such as "\\U0001F600"'],
  ),
  slip(
    'a token is written out',
    stack,
    ['organization: acme', 'organization: acme\n      token: hvs.CAESIJ4b1'],
    [
      'literal-secret 12:7',
      'put it in an environment variable and write { env: NAME }; if it was ever committed, replace it',
    ],
  ),
  slip(
    'a dialect is misspelt',
    stack,
    ['organization: acme', 'organization: acme\n      dialect: hcp-teraform'],
    ['unknown-dialect 12:16', 'did you mean "hcp-terraform"?'],
  ),
  slip(
    'the URL ends with the path of the API',
    stack,
    [
      'url: embedded\n      organization: acme',
      'url: https://app.example.com/api/v2\n      organization: acme\n      dialect: hcp-terraform\n      token: { env: T }',
    ],
    ['url 10:12', 'remove "/api/v2"'],
  ),
  slip(
    'two targets have the same name',
    stack,
    ['name: prod-cluster', 'name: acme'],
    ['duplicate 12:13', 'give one of them another name'],
  ),
  slip(
    'the mount is a path',
    stack,
    ['mount: cluster', 'mount: /auth/cluster/'],
    ['mount 15:14', 'write "cluster"'],
  ),
  slip(
    'the namespace has a ".." segment',
    stack,
    ['mount: cluster', 'namespace: /a//b/../'],
    ['namespace 15:18', 'write it as "team" or "org/team"'],
  ),
  slip(
    'a kind of the defaults is misspelt',
    stack,
    ['Workspace: {', 'Workspaces: {'],
    ['unknown-kind 18:5', 'did you mean "Workspace"?'],
  ),
  slip(
    'a field of the defaults is misspelt',
    stack,
    ['allowDestroyPlan: false', 'allowDestroyPlans: false'],
    ['unknown-field 18:41', 'did you mean "allowDestroyPlan"?'],
  ),
  slip(
    'a guard is not a number',
    stack,
    ['maxDeletes: 3', 'maxDeletes: three'],
    ['wrong-type 21:25', 'a whole number'],
  ),
  slip(
    'the name has capitals and a space',
    stack,
    ['{ name: payments }', '{ name: Payments Team }'],
    ['pattern 4:19', 'write "payments-team"'],
  ),
];
