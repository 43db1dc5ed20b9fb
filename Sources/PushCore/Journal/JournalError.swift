/// Why a file is not a journal that can be read.
public struct JournalError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kinds of errors.
    public enum Code: Sendable, Hashable {
        /// The file ends within its header, which a child writes before anything else.
        case headerTooShort
        /// The file does not begin like a journal, or its header is damaged.
        case notAJournal
        /// A record is there in full length and wrong; where it begins, in bytes.
        case damaged(offset: Int)
        /// The file was written by another version of the product; its version.
        case version(UInt16)
    }

    /// What is wrong.
    public let code: Code

    /// Makes an error.
    public init(code: Code) {
        self.code = code
    }

    /// What is wrong, and what follows from it.
    public var description: String {
        switch code {
        case .headerTooShort:
            "The journal ends within its header, so something was lost; its child's parts are taken over by their marks."
        case .notAJournal:
            """
            The file is not a journal, or its header is damaged; its child's parts are taken over by their marks. \
            Move the file out of the journal folder.
            """
        case .damaged(let offset):
            "The journal is damaged at byte \(offset), so its child's parts are taken over by their marks; check the disk."
        case .version(let version):
            """
            The journal has format version \(version) and this program reads versions up to \
            \(JournalHeader.version); \
            let the version that wrote it replay it, or move the file away and its parts are taken over by their marks.
            """
        }
    }
}
