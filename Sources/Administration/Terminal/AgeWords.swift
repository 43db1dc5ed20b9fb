/// A duration in its largest unit, for people.
package enum AgeWords {
    /// For example `8 s`, `5 min`, `3 h` or `2 d`.
    package static func text(_ seconds: Double) -> String {
        guard seconds.isFinite, seconds < 1e12 else { return "-" }
        let whole = Int64(max(0, seconds))
        return switch whole {
        case ..<120: "\(whole) s"
        case ..<7_200: "\(whole / 60) min"
        case ..<172_800: "\(whole / 3_600) h"
        default: "\(whole / 86_400) d"
        }
    }
}
