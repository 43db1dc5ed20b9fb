/// Why a journal cannot be read.
package struct JournalError: Error, Sendable, Hashable, CustomStringConvertible {
    package enum Code: Sendable, Hashable {
        /// The file ends within its header, which a child writes first.
        case headerTooShort
        /// The file does not start like a journal, or its header is damaged.
        case notAJournal
        /// A record has its full length but is corrupt; it starts at this offset, in bytes.
        case damaged(offset: Int)
        /// The file has another format version, given here.
        case version(UInt16)
    }

    package let code: Code

    package init(code: Code) {
        self.code = code
    }

    /// What is wrong, what it means for the child's parts, and what to do.
    package var description: String {
        switch code {
        case .headerTooShort:
            """
            The journal ends within its header, so records may be lost; its child's parts are recovered from their \
            dispatch marks.
            """
        case .notAJournal:
            """
            The file is not a journal, or its header is damaged; its child's parts are recovered from their dispatch \
            marks. Move the file out of the journal folder.
            """
        case .damaged(let offset):
            """
            The journal is damaged at byte \(offset), so its child's parts are recovered from their dispatch marks; \
            check the disk.
            """
        case .version(let version):
            version < JournalHeader.version
                ? """
                The journal has format version \(version) of a development version, which is not supported: start over \
                with pushmta-lab quickstart --fresh, or move the file away so that its child's parts are recovered from \
                their dispatch marks.
                """
                : """
                The journal has format version \(version) and this program reads version \(JournalHeader.version): let \
                the version that wrote it replay it, or move the file away so that its child's parts are recovered from \
                their dispatch marks.
                """
        }
    }
}
