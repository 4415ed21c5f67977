/** A stack whose services are the embedded one, in a directory of its own. */
import { documentsText, stackText } from '../rig/stack-folder.ts';
import { temporaryFolder } from '../rig/temporary-folder.ts';
import { role, workspace } from './documents.ts';

/** A stack whose two targets are the embedded service, which is neutral where nobody says more; `more` stands in its `spec`, too. */
export function embeddedStack(more: object = {}, dialect = 'neutral'): string {
  const targets = [
    {
      name: 'acme',
      service: 'workspaces',
      url: 'embedded',
      organization: 'acme',
      dialect,
    },
    { name: 'prod', service: 'cluster-auth', url: 'embedded', mount: 'cluster' },
  ];
  return temporaryFolder({
    'trueup.yaml': stackText({ targets, manifests: ['manifests/*.yaml'], spec: more }),
    'manifests/all.yaml': documentsText([workspace('app', { tags: { env: 'prod' } }), role('web')]),
  });
}
