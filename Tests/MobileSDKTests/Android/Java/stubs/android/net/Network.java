package android.net;

/** A network. */
public class Network {
}
