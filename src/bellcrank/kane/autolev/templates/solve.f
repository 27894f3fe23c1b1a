C
C     SOLUTION OF A(N,N) X = B BY ELIMINATION WITH SCALED PARTIAL PIVOTS
C
      SUBROUTINE SOLVE(N,A,B,X)
      INTEGER N,I,J,K,L
      DOUBLE PRECISION A(N,N),B(N),X(N),S(200),R,BEST
      DO 10 I=1,N
      S(I) = 0.0D0
      DO 5 J=1,N
      S(I) = MAX(S(I),DABS(A(I,J)))
    5 CONTINUE
      IF (S(I).EQ.0.0D0) STOP 'ALL ELEMENTS IN A ROW OF COEF ARE ZEROS'
   10 CONTINUE
      DO 60 K=1,N
      L = K
      BEST = 0.0D0
      DO 20 I=K,N
      IF (DABS(A(I,K))/S(I).GT.BEST) THEN
        BEST = DABS(A(I,K))/S(I)
        L = I
      ENDIF
   20 CONTINUE
      IF (BEST.EQ.0.0D0) STOP 'A PIVOT ELEMENT IS ZERO'
      IF (L.NE.K) THEN
        DO 30 J=1,N
        R = A(K,J)
        A(K,J) = A(L,J)
      A(L,J) = R
   30 CONTINUE
        R = B(K)
        B(K) = B(L)
        B(L) = R
        R = S(K)
        S(K) = S(L)
        S(L) = R
      ENDIF
      DO 50 I=K+1,N
      R = A(I,K)/A(K,K)
      IF (R.EQ.0.0D0) GOTO 50
      DO 40 J=K+1,N
      A(I,J) = A(I,J)-R*A(K,J)
   40 CONTINUE
      B(I) = B(I)-R*B(K)
   50 CONTINUE
   60 CONTINUE
      DO 80 I=N,1,-1
      X(I) = B(I)
      DO 70 J=I+1,N
      X(I) = X(I)-A(I,J)*X(J)
   70 CONTINUE
      X(I) = X(I)/A(I,I)
   80 CONTINUE
      RETURN
      END
