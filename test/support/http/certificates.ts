/** A self-signed certificate for `localhost` that ends in a hundred years. For tests alone: its key is public. */
export const localhost = {
  key: `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgjBSRsRFfTUCboJSs
XbNX3YlrxCn44HMOeQLxYGr2S1WhRANCAASqOCGOVVh8xskB+eekeFcttXIOkfjL
iVIezbasxqjeLYEQVrTNwueVbV+AEE083XJzgwwssDvbr3aa6aAwNeRN
-----END PRIVATE KEY-----`,
  cert: `-----BEGIN CERTIFICATE-----
MIIBljCCATugAwIBAgIUXOvyKxSzGdVudvdxXYlooRrEWD8wCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTEyMDExMTY0MFoYDzIxMjYxMDI3
MTExNjQwWjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAASqOCGOVVh8xskB+eekeFcttXIOkfjLiVIezbasxqjeLYEQVrTNwueV
bV+AEE083XJzgwwssDvbr3aa6aAwNeRNo2kwZzAdBgNVHQ4EFgQU52VlPVggW+pJ
VECL5ypQzt8qHCIwHwYDVR0jBBgwFoAU52VlPVggW+pJVECL5ypQzt8qHCIwDwYD
VR0TAQH/BAUwAwEB/zAUBgNVHREEDTALgglsb2NhbGhvc3QwCgYIKoZIzj0EAwID
SQAwRgIhALbsGROxp65q2hU+D8pFsgOukxw79+aTiAi2RWeyKaM9AiEA2GV6lPHX
uKkBtU5d99Ur3MQsQv1cdHTAehaHW6o/WmE=
-----END CERTIFICATE-----`,
};
