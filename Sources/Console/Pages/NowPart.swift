import Foundation

/// The live part of a page in one language.
struct NowPart: Sendable {
    let html: String
    /// The event for live pages: all of them share its bytes.
    let event: LiveEvent
    let readAt: Date
    /// Whether it is the last one.
    var isLast = false
}
