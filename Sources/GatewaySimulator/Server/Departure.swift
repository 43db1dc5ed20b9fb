/// How far a connection is on its way out after a GOAWAY.
enum Departure {
    /// Nothing of the kind.
    case none
    /// The GOAWAY leaves when so many more streams have come; they are not processed.
    case announced(GoAwayFault, lastStreamID: Int32, missing: Int)
    /// The GOAWAY has been sent; streams above that id are not processed.
    case leaving(lastStreamID: Int32)
}
