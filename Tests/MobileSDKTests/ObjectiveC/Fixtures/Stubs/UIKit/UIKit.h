// What the samples need of UIKit, to compile and run without it.
#import <Foundation/Foundation.h>

#define IBOutlet

typedef NS_ENUM(NSUInteger, UIBackgroundFetchResult) {
    UIBackgroundFetchResultNewData,
    UIBackgroundFetchResultNoData,
    UIBackgroundFetchResultFailed
};

typedef NS_ENUM(NSInteger, UIApplicationState) {
    UIApplicationStateActive,
    UIApplicationStateInactive,
    UIApplicationStateBackground
};

@interface UIResponder : NSObject
@end

@interface UIApplication : UIResponder
@property (nonatomic, readonly) UIApplicationState applicationState;
@end

@protocol UIApplicationDelegate <NSObject>
@optional
- (BOOL)application:(UIApplication *)application didFinishLaunchingWithOptions:(NSDictionary *)launchOptions;
- (void)application:(UIApplication *)application didRegisterForRemoteNotificationsWithDeviceToken:(NSData *)deviceToken;
- (void)application:(UIApplication *)application didReceiveRemoteNotification:(NSDictionary *)userInfo;
- (void)application:(UIApplication *)application
    didReceiveRemoteNotification:(NSDictionary *)userInfo
          fetchCompletionHandler:(void (^)(UIBackgroundFetchResult))completionHandler;
@end

/// The device that registrations describe.
@interface UIDevice : NSObject
+ (UIDevice *)currentDevice;
@property (nonatomic, readonly) NSString *name;
@property (nonatomic, readonly) NSString *model;
@property (nonatomic, readonly) NSString *systemName;
@property (nonatomic, readonly) NSString *systemVersion;
@end

@interface UIImage : NSObject
+ (UIImage *)imageWithData:(NSData *)data;
@end

@interface UIView : UIResponder
@end

@interface UIImageView : UIView
@property (nonatomic, strong) UIImage *image;
@end

@interface UILabel : UIView
@property (nonatomic, copy) NSString *text;
@end

@interface UIViewController : UIResponder
- (void)viewDidLoad;
@end

@interface NSURL (SecurityScope)
- (BOOL)startAccessingSecurityScopedResource;
- (void)stopAccessingSecurityScopedResource;
@end
