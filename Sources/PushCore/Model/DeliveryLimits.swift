/// What a delivery may say of its times.
public enum DeliveryLimits {
    /// Seconds of the longest validity: ten years as PostgreSQL counts them in an interval, of twelve months with 30 days each.
    public static let longestValidity: Int64 = 3_600 * 86_400

    /// What a validity has to be, for hints and `--help`.
    public static let validityWords = "from 1 to \(longestValidity) seconds (\(longestValidity / 86_400) days)"

    /// What is wrong with a validity in seconds; nil if nothing is.
    public static func problem(validity seconds: Int64) -> String? {
        (1...longestValidity).contains(seconds) ? nil : "the validity is \(seconds) seconds"
    }
}
