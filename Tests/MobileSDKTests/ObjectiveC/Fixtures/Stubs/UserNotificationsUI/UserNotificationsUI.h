// What the samples need of UserNotificationsUI.
#import <UserNotifications/UserNotifications.h>

@protocol UNNotificationContentExtension <NSObject>
- (void)didReceiveNotification:(UNNotification *)notification;
@end
