// Callback called on successful registration to the APNs
 - (void)application:(UIApplication*)application didRegisterForRemoteNotificationsWithDeviceToken:(NSData*)deviceToken
{
  // Pass the token to Adobe Campaign
  Neolane_SDK *nl = [Neolane_SDK getInstance];
  [nl registerDevice:tokenString:self.userKey:dic];
}
