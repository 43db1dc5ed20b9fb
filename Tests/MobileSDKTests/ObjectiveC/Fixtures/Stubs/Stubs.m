// What the program of samples runs with.
#import <UIKit/UIKit.h>

/// What clang's block literals point to; GCC's runtime has no blocks. The program calls its blocks and copies none.
void *_NSConcreteGlobalBlock[32];
void *_NSConcreteStackBlock[32];

@implementation UIResponder
@end

@implementation UIApplication
- (UIApplicationState)applicationState { return UIApplicationStateBackground; }
@end

@implementation UIDevice
+ (UIDevice *)currentDevice { return [[[UIDevice alloc] init] autorelease]; }
- (NSString *)name { return @"Ada's Phone"; }
- (NSString *)model { return @"iPhone"; }
- (NSString *)systemName { return @"iOS"; }
- (NSString *)systemVersion { return @"17.4"; }
@end
