#import <Foundation/Foundation.h>

/// A property list that outlives the process.
@interface NLSFile : NSObject {
@private
    NSString *_path;
}

/// The library's folder in the app's support folder.
+ (NSString *)supportFolder;

+ (NLSFile *)named:(NSString *)name in:(NSString *)folder;

/// The stored list; nil if there is none or it cannot be read. The device then registers again, which does no harm.
- (NSDictionary *)read;

/// Writes atomically. Data that cannot be written is lost only if the process ends before the server has it.
- (void)write:(NSDictionary *)content;

@end
