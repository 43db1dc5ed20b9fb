#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// JSON from outside, made fit for Foundation's decoder.
enum JSONBody {
    /// The bytes with a blank behind them.
    ///
    /// Foundation of Swift 6.3 traps when the byte that exceeds its nesting limit (513 times `[`, for example) is the last one:
    /// it looks for the place of the error behind the end.
    static func data(_ body: some Collection<UInt8>) -> Data {
        var data = Data(capacity: body.count + 1)
        data.append(contentsOf: body)
        data.append(0x20)
        return data
    }
}
