/// A key press, as received by a full-screen program.
package enum TerminalKey: Sendable, Hashable {
    case character(Character)
    /// A letter with the control key, in lower case.
    case control(Character)
    case enter, escape, backspace, tab, backTab
    case up, down, left, right, home, end, pageUp, pageDown
}
