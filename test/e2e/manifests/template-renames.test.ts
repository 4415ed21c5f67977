/** A row of a list that gets another key: the plan that would replace its resources is blocked. */
import { describe, expect, it } from 'vitest';
import { workspace } from '../../support/cli/documents.ts';
import { all, stackWith, template } from '../../support/cli/template-stack.ts';

const spec = `
  description: Network of \${each.key}
  workingDirectory: services/\${each.key}
  tags: { service: "\${each.key}" }`;

const product = `apiVersion: trueup.dev/v1
kind: Workspace
metadata:
  name: \${each.service.key}-\${each.env.key}
  renamedFrom: \${each.service.was}-\${each.env.key}
  each:
    matrix:
      service: { file: ../services.csv }
      env: [{ key: dev }, { key: prod }]
spec:
  description: \${each.service.key} of \${each.service.team} in \${each.env.key}
  tags: { service: "\${each.service.key}", env: "\${each.env.key}" }
`;

const renamesOf = async (stack: Awaited<ReturnType<typeof stackWith>>) =>
  (await stack.plan()).guards
    .filter(({ id }) => id === 'rename')
    .flatMap(({ effect, concerns }) =>
      concerns.map(({ address, says }) => `${effect} ${address}: ${says[0]}`),
    );

describe('A renamed row of a list', () => {
  it('trips the guard "rename", also where the key is part of other values', async () => {
    const stack = await stackWith({
      [all]: template('{ file: ../services.csv }', spec),
      'services.csv': 'key\nbilling\npayments\n',
    });
    await stack.run(['apply', '--yes'], 0);
    await stack.write('services.csv', 'key\ninvoicing\npayments\n');
    expect(await renamesOf(stack)).toEqual([
      'blocks Workspace/acme/invoicing: looks like "billing", which this plan deletes: to rename it in place, put "renamedFrom: billing" into its metadata, from a column of its list',
    ]);
    await stack.run(['apply', '--yes'], 5);
  });

  it('trips the guard once for a whole product, and a column with the former key renames all of it', async () => {
    const stack = await stackWith({
      [all]: product,
      'services.csv': 'key,was,team\nnet-core,net-core,ops\npayments,payments,pay\n',
    });
    await stack.run(['apply', '--yes'], 0);
    await stack.write('services.csv', 'key,was,team\nbackbone,backbone,ops\npayments,payments,pay\n');
    const { guards } = await stack.plan();
    expect(guards.filter(({ id }) => id === 'rename')).toMatchObject([{ counted: 2 }]);
    expect((await renamesOf(stack)).map((text) => text.replace(/, which.*/, ''))).toEqual([
      'blocks Workspace/acme/backbone-dev: looks like "net-core-dev"',
      'blocks Workspace/acme/backbone-prod: looks like "net-core-prod"',
    ]);
    await stack.write('services.csv', 'key,was,team\nbackbone,net-core,ops\npayments,payments,pay\n');
    const { changes, acknowledge } = await stack.plan();
    expect(acknowledge).toEqual([]);
    expect(changes.filter(({ action }) => action !== 'update')).toEqual([]);
    await stack.run(['apply', '--yes'], 0);
    expect((await stack.plan()).changes).toEqual([]);
  });

  it('trips the guard if another column of the row still has the former key', async () => {
    const path = `
  description: \${each.value.about}
  workingDirectory: services/\${each.key}`;
    const stack = await stackWith({
      [all]: template('{ file: ../services.csv }', path),
      'services.csv': 'key,about\nbilling,The billing service\n',
    });
    await stack.run(['apply', '--yes'], 0);
    await stack.write('services.csv', 'key,about\naccounting,The billing service\n');
    expect(await renamesOf(stack)).toHaveLength(1);
  });

  it('trips the guard if a repository is named after the key', async () => {
    const vcs = '{ vcsRepo: { identifier: "acme/${each.key}", oauthTokenId: ot-git } }';
    const stack = await stackWith({ [all]: template('{ file: ../l.yaml }', vcs), 'l.yaml': '- a1\n- b1\n' });
    await stack.run(['apply', '--yes'], 0);
    await stack.write('l.yaml', '- a2\n- b1\n');
    expect(await renamesOf(stack)).toHaveLength(1);
  });
});

describe('A document with another name', () => {
  it('trips the guard "rename", also where the name is part of the description', async () => {
    const stack = await stackWith({});
    const about = (name: string) => ({ description: `Network of ${name}, by Ann`, tags: { team: 'net' } });
    await stack.setUp(workspace('billing', about('billing')), workspace('stays'));
    await stack.declare(workspace('invoicing', about('invoicing')), workspace('stays'));
    expect(await renamesOf(stack)).toEqual([
      'blocks Workspace/acme/invoicing: looks like "billing", which this plan deletes: to rename it in place, put "renamedFrom: billing" into its metadata',
    ]);
  });

  it('does not trip the guard if more than the name differs', async () => {
    const stack = await stackWith({});
    await stack.setUp(workspace('billing', { description: 'Bills of billing' }), workspace('stays'));
    await stack.declare(workspace('search', { description: 'Index of search' }), workspace('stays'));
    expect(await renamesOf(stack)).toEqual([]);
  });
});
