// What the samples need of CoreLocation.
#import <Foundation/Foundation.h>

@interface CLLocationManager : NSObject
@end

@protocol CLLocationManagerDelegate <NSObject>
@end
