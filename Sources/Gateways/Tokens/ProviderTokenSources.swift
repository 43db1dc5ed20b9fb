import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The provider token sources of a process, one for each key.
final class ProviderTokenSources: Sendable {
    private let now: @Sendable () -> Date
    private let sources = Mutex<[ProviderTokenIdentity: ProviderTokenSource]>([:])

    init(now: @escaping @Sendable () -> Date) {
        self.now = now
    }

    /// The key's source, made at the first call.
    func source(of key: APNsTokenKey) -> ProviderTokenSource {
        sources.withLock { sources in
            if let known = sources[key.identity] { return known }
            let source = ProviderTokenSource(key: key, now: now)
            sources[key.identity] = source
            return source
        }
    }
}
