// An app's own header, which a sample imports.
#import <UIKit/UIKit.h>

@interface RootViewController : UIViewController
@end
