#import "NLSFile.h"

@implementation NLSFile

+ (NSString *)supportFolder {
    NSArray *folders = NSSearchPathForDirectoriesInDomains(NSApplicationSupportDirectory, NSUserDomainMask, YES);
    NSString *support = [folders count] > 0 ? [folders objectAtIndex:0] : NSTemporaryDirectory();
    return [support stringByAppendingPathComponent:@"Neolane_SDK"];
}

+ (NLSFile *)named:(NSString *)name in:(NSString *)folder {
    NLSFile *file = [[[NLSFile alloc] init] autorelease];
    file->_path = [[folder stringByAppendingPathComponent:name] copy];
    return file;
}

- (void)dealloc {
    [_path release];
    [super dealloc];
}

- (NSDictionary *)read {
    NSData *data = [NSData dataWithContentsOfFile:_path];
    if (data == nil) { return nil; }
    id content = nil;
    // GNUstep's parser raises on some broken files.
    @try {
        content = [NSPropertyListSerialization propertyListWithData:data options:NSPropertyListImmutable format:NULL error:NULL];
    } @catch (NSException *exception) {
        content = nil;
    }
    return [content isKindOfClass:[NSDictionary class]] ? content : nil;
}

- (void)write:(NSDictionary *)content {
    NSData *data = [NSPropertyListSerialization dataWithPropertyList:content
                                                              format:NSPropertyListXMLFormat_v1_0
                                                             options:0
                                                               error:NULL];
    [[NSFileManager defaultManager] createDirectoryAtPath:[_path stringByDeletingLastPathComponent]
                              withIntermediateDirectories:YES
                                               attributes:nil
                                                    error:NULL];
    [data writeToFile:_path atomically:YES];
}

@end
