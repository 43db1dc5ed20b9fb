// What the samples need of UserNotifications.
#import <Foundation/Foundation.h>

@interface UNNotificationAttachment : NSObject
@property (nonatomic, readonly, copy) NSURL *URL;
@end

@interface UNNotificationContent : NSObject <NSCopying, NSMutableCopying>
@property (nonatomic, readonly, copy) NSString *title;
@property (nonatomic, readonly, copy) NSString *body;
@property (nonatomic, readonly, copy) NSDictionary *userInfo;
@property (nonatomic, readonly, copy) NSArray *attachments;
@end

@interface UNMutableNotificationContent : UNNotificationContent
@end

@interface UNNotificationRequest : NSObject
@property (nonatomic, readonly, copy) UNNotificationContent *content;
@end

@interface UNNotification : NSObject
@property (nonatomic, readonly, copy) UNNotificationRequest *request;
@end

@interface UNNotificationServiceExtension : NSObject
- (void)didReceiveNotificationRequest:(UNNotificationRequest *)request
                   withContentHandler:(void (^)(UNNotificationContent *content))contentHandler;
@end
