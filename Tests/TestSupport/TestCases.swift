import Foundation

/// How many cases random tests try.
public enum TestCases {
    /// The number that `PUSHMTA_TEST_CASES` gives, else the given one.
    public static func count(_ standard: Int) -> Int {
        ProcessInfo.processInfo.environment["PUSHMTA_TEST_CASES"].flatMap { Int($0) } ?? standard
    }
}
