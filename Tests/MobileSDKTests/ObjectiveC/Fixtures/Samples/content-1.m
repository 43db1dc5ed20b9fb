#import "NotificationViewController.h"
#import <UserNotifications/UserNotifications.h>
#import <UserNotificationsUI/UserNotificationsUI.h>

@interface NotificationViewController () <UNNotificationContentExtension>

@property (strong, nonatomic) IBOutlet UIImageView *imageView;
@property (strong, nonatomic) IBOutlet UILabel *notifContent;
@property (strong, nonatomic) IBOutlet UILabel *label;

@end

@implementation NotificationViewController

- (void)viewDidLoad {
    [super viewDidLoad];
    // Do any required interface initialization here.
}

- (void)didReceiveNotification:(UNNotification *)notification {
    self.label.text = notification.request.content.title;
    self.notifContent.text = notification.request.content.body;
    UNNotificationAttachment *attachment = [notification.request.content.attachments objectAtIndex:0];
    if ([attachment.URL startAccessingSecurityScopedResource])
    {
      NSData * imageData = [[NSData alloc] initWithContentsOfURL:attachment.URL];
      self.imageView.image =[UIImage imageWithData: imageData];
      [attachment.URL stopAccessingSecurityScopedResource];
    }
}
@end
