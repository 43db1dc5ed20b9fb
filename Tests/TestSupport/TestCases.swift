import Foundation

/// The number of cases of random tests.
package enum TestCases {
    /// The number in `PUSHMTA_TEST_CASES`; otherwise the given one.
    package static func count(_ standard: Int) -> Int {
        ProcessInfo.processInfo.environment["PUSHMTA_TEST_CASES"].flatMap { Int($0) } ?? standard
    }
}
