// An app's own header, which a sample imports.
#import <UIKit/UIKit.h>

@interface LandingPageViewController : UIViewController
@end
