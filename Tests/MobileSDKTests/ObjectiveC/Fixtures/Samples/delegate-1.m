//  AppDelegate.h

#import <UIKit/UIKit.h>
#import <CoreLocation/CoreLocation.h>
#import "Neolane_SDK.h"

@class LandingPageViewController;

@interface AppDelegate : UIResponder <UIApplicationDelegate, CLLocationManagerDelegate, Neolane_SDKDelegate> {
    CLLocationManager *locationManager;
    NSString *userKey;
    NSString *mktServerUrl;
    NSString *tckServerUrl;
    NSString *homeURL;
    NSString *strLandingPageUrl;
    NSTimer *timer;
}
