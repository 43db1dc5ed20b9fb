//  AppDelegate.m

#import "AppDelegate.h"
#import "Neolane_SDK.h"
#import "LandingPageViewController.h"
#import "RootViewController.h"
...
...
- (void) registerDeviceStatus: (ACCRegisterDeviceStatus) status :(NSString *) errorReason
{
    NSLog(@"registerStatus: %lu",status);

    if ( errorReason != nil )
        NSLog(@"errorReason: %@",errorReason);

    if( status == ACCRegisterDeviceStatusSuccess )
    {
        // Registration successful
        ...
        ...
    }
    else { // An error occurred
        NSString *message;
        switch ( status ){
            case ACCRegisterDeviceStatusFailureUnknownUUID:
                message = @"Unkown IntegrationKey (UUID)";
                break;
            case ACCRegisterDeviceStatusFailureMarketingServerHostnameEmpty:
                message = @"Marketing URL not set or Empty";
                break;
            case ACCRegisterDeviceStatusFailureIntegrationKeyEmpty:
                message = @"Integration Key not set or empty";
                break;
            case ACCRegisterDeviceStatusFailureConnectionIssue:
                message = [NSString stringWithFormat:@"%@ %@",@"Connection issue:",errorReason];
                break;
            case ACCRegisterDeviceStatusFailureUnexpectedError:
            default:
                message = [NSString stringWithFormat:@"%@ %@",@"Unexpected Error",errorReason];
                break;
        }
    ...
    ...
    }
}
@end
