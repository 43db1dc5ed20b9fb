- (BOOL)application:(UIApplication *)application didFinishLaunchingWithOptions:(NSDictionary *)launchOptions
{
    ....
    if( launchOptions )
    {
        // When application is not already launched, the notification data if any are stored in the key 'UIApplicationLaunchOptionsRemoteNotificationKey'
        NSDictionary *localLaunchOptions = [launchOptions objectForKey:@"UIApplicationLaunchOptionsRemoteNotificationKey"];
        if( localLaunchOptions )
        {
         ...
         [localLaunchOptions objectForKey:@"VAR"];
        ...
        }
   }
}

// Callback called when the application is already launched (whether the application is running foreground or background)
- (void)application:(UIApplication *)application didReceiveRemoteNotification:(NSDictionary *)launchOptions
{
    if( launchOptions )
    {
     ...
        [launchOptions objectForKey:@"VAR"];
    }
}
