import Foundation
import PushCore

extension TrackingSpool {
    /// What was in the spool at a moment.
    public struct Mark: Sendable {
        /// The last position of each source.
        let sources: [UUID: Int64]

        /// Whether a record was there.
        public func includes(_ head: Head) -> Bool {
            sources[head.source].map { head.record.position <= $0 } ?? false
        }
    }
}
